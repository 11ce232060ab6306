"""The page: guards, routes, rendering, the stream. Start at ``routes.py``, the site map."""
