# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What stands between the matrix products of a decode step, for a few rows of a bfloat16 model on a CPU.

A step of one token computes little between two matrix products, a few hundred numbers, but torch needs two dozen
kernels a layer for it, at two to five microseconds each. Here they are three calls a layer:

    add_norm   x += add;  out = x / rms(x) * weight       x stays float32 from layer to layer
    attend     rotate queries and key, store key and value, attend over the slot
    gated      out = silu(gate) * up

and one for an output head whose weights are 8-bit integers in blocks of 32 (GGUF's Q8_0): each integer is widened in a
register, so that a byte a weight is read instead of two or four.

Activations and caches are bfloat16 (raw 16-bit words), everything in between is float32. All arguments are addresses of
contiguous memory; the caller has checked shapes and lifetime (``constrained.decoder.models.token_step`` does). Nothing
is allocated, nothing can fail, and the GIL is released. The loops are C, in ``token_step.pxd``: they are compiled for
three widths of vectors. Uncompiled there are none; ``is_compiled`` tells, and the decoder then keeps to torch.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # no Cython at run time
    from constrained.kernel import cython_shim as cython


def is_compiled() -> bool:
    """True when this module is the compiled one."""
    return cython.compiled


def limit_vectors(level: cython.int) -> int:
    """Use vectors of at most 128 (``level`` 0), 256 (1) or 512 bits (2, the default); returns the level that is used
    on this processor. For tests of the narrower loops."""
    if not cython.compiled:
        return 0
    global ts_limit
    ts_limit = level
    return ts_level()  # noqa: F821 - the .pxd


def add_norm(x: cython.size_t, add: cython.size_t, weight: cython.size_t, out: cython.size_t, rows: cython.Py_ssize_t,
             width: cython.Py_ssize_t, eps: cython.float) -> None:
    """``x`` float32 ``[rows, width]`` plus ``add`` bfloat16 (or 0: nothing), in place; ``out`` bfloat16 is its RMS norm
    times ``weight`` float32 ``[width]``."""
    if cython.compiled:
        with cython.nogil:
            ts_add_norm(cython.cast(cython.p_float, x), cython.cast(cython.p_ushort, add),  # noqa: F821 - the .pxd
                        cython.cast(cython.p_float, weight), cython.cast(cython.p_ushort, out), rows, width, eps)


def gated(gate_up: cython.size_t, out: cython.size_t, rows: cython.Py_ssize_t, width: cython.Py_ssize_t) -> None:
    """``out [rows, width] = silu(gate) * up`` of ``gate_up [rows, 2 * width]``, all bfloat16."""
    if cython.compiled:
        with cython.nogil:
            ts_gated(cython.cast(cython.p_ushort, gate_up), cython.cast(cython.p_ushort, out),  # noqa: F821
                     rows, width)


def attend(mixed: cython.size_t, cosines: cython.size_t, sines: cython.size_t, keys: cython.size_t,
           values: cython.size_t, length: cython.Py_ssize_t, first: cython.Py_ssize_t, out: cython.size_t,
           scratch: cython.size_t, kv_heads: cython.Py_ssize_t, group: cython.Py_ssize_t, dim: cython.Py_ssize_t,
           head_stride: cython.Py_ssize_t, scale: cython.float) -> None:
    """Attention of one new token at position ``length`` over positions ``first .. length`` of its slot.

    ``mixed`` bfloat16 ``[(group + 2) * kv_heads, dim]``: queries, keys, values. ``cosines``, ``sines``: tables of
    ``models/rope.py`` by position, ``[*, dim]``. ``keys``, ``values``: the slot of one layer, kv head h at
    ``h * head_stride`` items, position p at ``p * dim``; the new ones are stored. ``out`` bfloat16
    ``[kv_heads * group, dim]``. ``scratch``: ``group * (dim + length + 1 - first) + 2 * dim`` float32.
    """
    if cython.compiled:
        with cython.nogil:
            ts_attend(cython.cast(cython.p_ushort, mixed), cython.cast(cython.p_ushort, cosines),  # noqa: F821
                      cython.cast(cython.p_ushort, sines), cython.cast(cython.p_ushort, keys),
                      cython.cast(cython.p_ushort, values), length, first, cython.cast(cython.p_ushort, out),
                      cython.cast(cython.p_float, scratch), kv_heads, group, dim, head_stride, scale)


def int8_rows(quants: cython.size_t, scales: cython.size_t, x: cython.size_t, out: cython.size_t,
              rows: cython.Py_ssize_t, blocks: cython.Py_ssize_t, count: cython.Py_ssize_t) -> None:
    """``out`` float32 ``[count, rows]``: rows of int8 ``quants [rows, blocks, 32]`` with float32 ``scales [rows,
    blocks]`` times ``x`` float32 ``[count, blocks, 32]``. Four rows of ``x`` cost about two single ones."""
    i: cython.Py_ssize_t = 0
    if cython.compiled:
        with cython.nogil:
            while i + 4 <= count:
                ts_int8_rows4(cython.cast(cython.p_schar, quants), cython.cast(cython.p_float, scales),  # noqa: F821
                              cython.cast(cython.p_float, x) + i * blocks * 32,
                              cython.cast(cython.p_float, out) + i * rows, rows, blocks)
                i += 4
            while i < count:
                ts_int8_rows(cython.cast(cython.p_schar, quants), cython.cast(cython.p_float, scales),  # noqa: F821
                             cython.cast(cython.p_float, x) + i * blocks * 32,
                             cython.cast(cython.p_float, out) + i * rows, rows, blocks)
                i += 1
