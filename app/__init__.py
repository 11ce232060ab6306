"""Plancia: a local-first workspace in which one person works with AI agents in a group chat.

The map, top to bottom; a room imports only from rooms below it:

    main.py, cli.py   the two places that wire rooms together
    web/              routes, pages, streams: what a browser may see and ask
    commands/         one file per command: the terminal's counterpart of web/
    workbench.py      one process at work on one data folder
    group_chat/       the room: bus, members and their turns, tasks, questions, recovery after a crash
    workspace/        what the user keeps: conversations, agents, rules, model sources, settings, usage
    models/           Peewee tables, the questions asked of them, migrations
    hands/            tools that act: files, commands, the web; what asks, what confines, and the way back
    providers/        one file per wire to a model, and the routing between them
    engine/           the agent harness; knows nothing of the rooms above
    prompts/          every word said to a model
    infra/            clock, ids, files, locks, secrets, feed: knows no agents

Glossary:

    run            one call of the runner, from an input to one ``done``
    step           one model call and the tool calls it asked for
    turn           one member holding the floor once: exactly one run
    floor          who answers a message that names nobody
    dispatch       the Commander asks a member to take a turn, always by a tool call
    member         an agent inside one conversation; ``commander`` and ``user`` are members too
    conversation   what the user sees
    session        one member's history as its model sees it
    segment        one bubble of a Commander turn
    connector      an external service reached over MCP
    package        a third-party repository hosted verbatim on this machine
"""

__version__ = "0.1.0"
