"""Every word said to a model: Markdown with Jinja, rendered strictly."""
