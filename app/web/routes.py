"""The site map: every address of the page, the handler behind it, and nothing else."""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from app.web import (
    agent_imports,
    agents,
    approvals,
    conversations,
    health,
    organised,
    pictures,
    settings_general,
    settings_login,
    settings_model,
    settings_models,
    settings_permissions,
    welcome,
    whole_texts,
)
from app.web.assets import Assets


def routes(assets: Assets) -> list[BaseRoute]:
    at = "/conversations/{id}"
    return [
        Route("/healthz", health.healthz),
        Route("/static/{name}", assets.respond),
        Route("/", conversations.home),
        Route("/welcome", welcome.page),
        Route("/welcome", welcome.add, methods=["POST"]),
        Route("/conversations", conversations.create, methods=["POST"]),
        Route(at, conversations.page),
        Route(f"{at}/stream", conversations.stream),
        Route(f"{at}/earlier", conversations.earlier),
        Route(f"{at}/organised/{{message}}", organised.page),
        Route(f"{at}/pictures/{{name}}", pictures.picture),
        Route(f"{at}/texts/{{message}}", whole_texts.whole_text),
        Route(f"{at}/messages", conversations.send, methods=["POST"]),
        Route(f"{at}/steer", conversations.steer, methods=["POST"]),
        Route(f"{at}/stop", conversations.stop, methods=["POST"]),
        Route(f"{at}/hurry", conversations.hurry, methods=["POST"]),
        Route(f"{at}/approvals/{{approval}}", approvals.decide, methods=["POST"]),
        Route(f"{at}/access", approvals.choose_access, methods=["POST"]),
        Route(f"{at}/resume", conversations.resume, methods=["POST"]),
        Route(f"{at}/title", conversations.rename, methods=["POST"]),
        Route(f"{at}/model", conversations.choose_model, methods=["POST"]),
        Route(f"{at}/delete", conversations.delete, methods=["POST"]),
        Route(f"{at}/undelete", conversations.undelete, methods=["POST"]),
        Route(f"{at}/queue/{{item}}/{{act}}", conversations.queued, methods=["POST"]),
        Route("/agents", agents.page),
        Route("/agents", agents.create, methods=["POST"]),
        Route("/agents/{agent}", agents.edit),
        Route("/agents/{agent}", agents.save, methods=["POST"]),
        Route("/agents/{agent}/{act}", agents.act, methods=["POST"]),
        Route("/new-agent", agents.new),
        Route("/import-agents", agent_imports.take, methods=["POST"]),
        Route("/settings", settings_general.page),
        Route("/settings", settings_general.change, methods=["POST"]),
        Route("/settings/permissions", settings_permissions.page),
        Route("/settings/permissions", settings_permissions.change, methods=["POST"]),
        Route("/settings/permissions/{rule}/revoke", settings_permissions.revoke, methods=["POST"]),
        Route("/settings/models", settings_models.page),
        Route("/settings/models", settings_models.add, methods=["POST"]),
        Route("/settings/models/find", settings_models.find, methods=["POST"]),
        Route("/settings/models/order", settings_models.order, methods=["POST"]),
        Route("/settings/models/asking", settings_models.asking, methods=["POST"]),
        Route("/settings/models/about", settings_model.page),
        Route("/settings/models/about", settings_model.change, methods=["POST"]),
        Route("/settings/models/{name}/edit", settings_models.edit_page),
        Route("/settings/models/{name}/edit", settings_models.edit, methods=["POST"]),
        Route("/settings/models/{name}/login", settings_login.page),
        Route("/settings/models/{name}/login", settings_login.begin, methods=["POST"]),
        Route("/settings/models/{name}/{act}", settings_models.act, methods=["POST"]),
    ]
