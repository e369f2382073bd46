"""Detectors: what names things in a picture; one base, one file a variant. See docs/detectors.md."""
