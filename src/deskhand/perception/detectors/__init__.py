"""Detectors: what names objects in a picture; one base, one file a variant. See docs/detectors.md."""
