"""The text of documents: PDF, Word, Excel, PowerPoint. Read by a program of its own; only ``extract`` runs in ours."""
