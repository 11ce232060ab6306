"""Peewee: tables, the questions asked of them, numbered migrations."""
