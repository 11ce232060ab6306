"""One file per wire to a model, and the routing between them. Implements ``engine.provider``."""
