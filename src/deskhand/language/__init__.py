"""Understanding short instructions about objects on a desk, without a language model."""
