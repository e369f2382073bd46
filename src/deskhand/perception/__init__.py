"""Seeing: from an RGB-D frame to the objects on the desk."""
