"""Language models behind one Protocol, one file a variant; :func:`load_model` makes one from a profile of ``config/llm.yaml``."""

from deskhand.llm.config import ModelProfile, load_profile
from deskhand.llm.making import make_model

load_model = make_model

__all__ = ["ModelProfile", "load_model", "load_profile", "make_model"]
