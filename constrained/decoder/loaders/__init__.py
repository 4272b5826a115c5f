"""Checkpoints to models: GGUF files and safetensors directories, checked tensor by tensor."""
