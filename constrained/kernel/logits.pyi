def is_compiled() -> bool: ...
def mask_rows(
    logits: int,
    logits_stride: int,
    mask: int,
    mask_stride: int,
    picked: int,
    rows: int,
    limit: int,
    width: int,
    minus_infinity: int,
    item_bytes: int,
) -> None: ...
