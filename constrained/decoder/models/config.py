"""What a dense decoder-only transformer is, as one frozen value.

The families differ in data only: biases, q/k norms, norms after the sublayers, the activation, a window
and a RoPE table a layer, scales and soft caps. ``DecoderModel`` branches on these fields, never on the family's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from constrained.decoder.errors import ModelError
from constrained.decoder.models.activations import ACTIVATION_FUNCTIONS

__all__ = ["MAX_LAYERS", "CoreConfig", "ModelConfig", "RopeConfig", "checked_layers"]

MAX_LAYERS = 1024
"""More layers than any model has: a wrong number must not allocate gigabytes."""


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """One RoPE table (Su et al. 2021): ``kind`` names how the frequencies are scaled.

    ``parameters`` are the numbers of the kind: ``factor`` (linear, dynamic, yarn, llama3), ``low_freq_factor``,
    ``high_freq_factor``, ``original_max_position_embeddings`` (llama3, yarn), ``beta_fast``, ``beta_slow``,
    ``attention_factor``, ``mscale``, ``mscale_all_dim``, ``truncate`` (yarn).
    ``frequency_factors``, one number a frequency, divide the frequencies (the tensor ``rope_freqs`` of GGUF).
    """

    theta: float = 10000.0
    kind: str = "default"
    parameters: Mapping[str, float] = field(default_factory=dict)
    frequency_factors: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreConfig:
    """What caches and the generation loop need to know of any model. ``n_layers`` are those with cached keys."""

    family: str
    vocab_size: int
    hidden_size: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    max_position: int
    bos_token_id: int | None = None
    eos_token_ids: tuple[int, ...] = ()
    pad_token_id: int | None = None

    def __post_init__(self) -> None:
        for name in ("vocab_size", "hidden_size", "n_layers", "n_heads", "n_kv_heads", "head_dim", "max_position"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ModelError(f"{name} must be a positive integer, not {value!r}")
        if self.n_heads % self.n_kv_heads:
            raise ModelError(f"n_heads ({self.n_heads}) is no multiple of n_kv_heads ({self.n_kv_heads})")

    @property
    def query_size(self) -> int:
        """Width of all query heads together."""
        return self.n_heads * self.head_dim

    @property
    def kv_size(self) -> int:
        """Width of all key (or value) heads together."""
        return self.n_kv_heads * self.head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig(CoreConfig):
    """Sizes and switches of one decoder-only model. ``layer_windows[i]`` is the sliding window of layer i (None: all
    positions), ``layer_ropes[i]`` the index into ``ropes`` of its RoPE table."""

    intermediate_size: int
    rms_norm_eps: float
    ropes: tuple[RopeConfig, ...]
    layer_ropes: tuple[int, ...]
    layer_windows: tuple[int | None, ...]
    activation: str = "silu"
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    post_norms: bool = False
    norm_offset: bool = False
    embedding_scale: float | None = None
    attention_scale: float | None = None
    final_softcap: float | None = None
    tied: bool = False

    def __post_init__(self) -> None:
        CoreConfig.__post_init__(self)  # not super(): the class cell of a dataclass with slots is the one before them
        if self.intermediate_size < 1:
            raise ModelError(f"intermediate_size must be positive, not {self.intermediate_size}")
        if self.head_dim % 2:
            raise ModelError(f"head_dim ({self.head_dim}) must be even for rotary embeddings")
        if len(self.layer_windows) != self.n_layers or len(self.layer_ropes) != self.n_layers:
            raise ModelError(f"layer_windows and layer_ropes need one entry for each of the {self.n_layers} layers")
        if any(index not in range(len(self.ropes)) for index in self.layer_ropes):
            raise ModelError("layer_ropes points outside ropes")
        if any(window is not None and window < 1 for window in self.layer_windows):
            raise ModelError("a sliding window must be positive")
        if self.activation not in ACTIVATION_FUNCTIONS:
            raise ModelError(f"unknown activation {self.activation!r}",
                             hint=f"known: {', '.join(ACTIVATION_FUNCTIONS)}")

    @property
    def scale(self) -> float:
        """What query-key products are multiplied by."""
        return self.head_dim**-0.5 if self.attention_scale is None else self.attention_scale


def checked_layers(count: int) -> int:
    """``count`` if a model can have so many layers, before a table with an entry for each is made."""
    if not isinstance(count, int) or not 1 <= count <= MAX_LAYERS:
        raise ModelError(f"a model has 1 to {MAX_LAYERS} layers, not {count!r}")
    return count
