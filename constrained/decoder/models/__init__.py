"""Dense decoder-only transformers as data (:mod:`config`) run by one module (:mod:`transformer`), and T5."""
