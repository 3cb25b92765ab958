"""Third-party attention gradients: assay.adapters.torch, .jax, .fla and .flash_attn (Triton), .npu (Ascend)."""
