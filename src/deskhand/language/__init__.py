"""Understanding short instructions about things on a desk, without a language model."""
