"""Front ends: each reads one notation and makes a grammar of it (``RuleSet``)."""
