"""Attention gradients of frameworks as implementations: assay.adapters.torch, assay.adapters.jax."""
