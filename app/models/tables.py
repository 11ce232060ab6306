"""The tables. Migrations make them; a test holds the two together.

A table is bound to no database: a query is built here and run by the ``Database`` it is given to. Times are
ISO 8601 in UTC with milliseconds, so text order is time order. ``revision`` comes from the one counter of the
conversation and is raised in the same transaction as the change.
"""

from __future__ import annotations

from peewee import (
    BooleanField,
    CompositeKey,
    FloatField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)

from app.models.fields import CleanText, JsonText


class Table(Model):
    """A table of the store; its name is written out, because the name is a promise to old databases."""


class Conversation(Table):
    id = TextField(primary_key=True)
    title = CleanText()
    title_source = TextField()
    """``auto`` until the user renames it, then ``user``."""
    workspace = CleanText()
    """The folder its tools work in."""
    model = CleanText(null=True)
    """``provider/model``; None follows the default."""
    pinned = BooleanField()
    archived = BooleanField()
    deleted_at = TextField(null=True)
    created = TextField()
    updated = TextField()
    """Time of its newest message."""
    revision = IntegerField()
    access = TextField()
    """``cautious``, ``standard`` or ``trusted``."""
    floor = TextField()
    """The member who answers a message that names nobody."""

    class Meta:
        table_name = "conversations"


class Rule(Table):
    """What the user decided for good."""

    id = TextField(primary_key=True)
    workspace = CleanText()
    """Empty for all of them."""
    answer = TextField()
    """``allow``, ``ask`` or ``deny``."""
    tool = TextField()
    words = JsonText()
    exact = BooleanField()
    """False: more words may follow."""
    categories = JsonText()
    """What a rule that allows covers, sorted."""
    created = TextField()

    class Meta:
        table_name = "rules"


class Turn(Table):
    """One member holding the floor once."""

    id = TextField(primary_key=True)
    conversation = ForeignKeyField(Conversation, column_name="conversation", on_delete="CASCADE")
    revision = IntegerField()
    member = CleanText()
    session = TextField()
    trigger = CleanText()
    """What began it: a message id, or a word such as ``continue``."""
    state = TextField()
    reason = CleanText(null=True)
    error = JsonText(null=True)
    model = CleanText(null=True)
    started = TextField()
    ended = TextField(null=True)
    task = TextField(null=True)
    """What it was started for; NULL where it answers the user."""

    class Meta:
        table_name = "turns"


class Task(Table):
    """A job that one member gave another, or a worker without a name."""

    id = TextField(primary_key=True)
    conversation = ForeignKeyField(Conversation, column_name="conversation", on_delete="CASCADE")
    revision = IntegerField()
    kind = TextField()
    """``dispatch`` or ``worker``."""
    asker = TextField()
    member = TextField()
    """Who does it; ``worker`` has no name."""
    job = CleanText()
    given = TextField()
    """The turn in which it was given."""
    call_id = CleanText()
    """The call that waits for it."""
    turn = TextField(null=True)
    """The newest turn that works on it; NULL before the first."""
    state = TextField()
    outcome = CleanText(null=True)
    """What came of it, as the asker was told."""
    created = TextField()
    ended = TextField(null=True)

    class Meta:
        table_name = "tasks"


class Plan(Table):
    """Steps that a conversation works off, in the order in which they wait for each other."""

    id = TextField(primary_key=True)
    conversation = ForeignKeyField(Conversation, column_name="conversation", on_delete="CASCADE")
    revision = IntegerField()
    title = CleanText()
    """Of the playbook it was made from; else empty."""
    setter = TextField()
    """``commander``, or ``user`` for a playbook."""
    turn = TextField(null=True)
    """In which it was set; NULL where no member set it."""
    state = TextField()
    """What it waits for, if for anything; ``replaced`` where another one was set in its place."""
    content = JsonText()
    """Its steps, and what has become of each."""
    created = TextField()
    begun = TextField(null=True)
    """NULL until its first step may begin."""
    ended = TextField(null=True)

    class Meta:
        table_name = "plans"


class Message(Table):
    """One article of the chat: what user and page see. What a model sees is a session."""

    id = TextField(primary_key=True)
    conversation = ForeignKeyField(Conversation, column_name="conversation", on_delete="CASCADE")
    position = IntegerField()
    revision = IntegerField()
    turn = TextField(null=True)
    member = CleanText()
    kind = TextField()
    state = TextField()
    text = CleanText()
    data = JsonText()
    created = TextField()
    client_id = CleanText(null=True)
    """Chosen by the page that sent it: the same one twice counts once."""

    class Meta:
        table_name = "messages"


class Step(Table):
    """One call of a tool, or one restore, that may have changed files, between two snapshots of the workspace."""

    id = TextField(primary_key=True)
    conversation = ForeignKeyField(Conversation, column_name="conversation", on_delete="CASCADE")
    turn = TextField()
    """Of a restore an id of its own, so that it stands among the turns as one of them."""
    call_id = CleanText()
    tool = CleanText()
    undoes = TextField(null=True)
    """The turn that a restore took back, or the restore."""
    before = TextField()
    after = TextField(null=True)
    """NULL while it runs, and after a crash until somebody has looked."""
    tally = JsonText(null=True)
    """What its turn has come to with it; in the last step of a turn only."""
    started = TextField()

    class Meta:
        table_name = "steps"


class Session(Table):
    """A member's history, which itself is the file at ``path`` (relative to the data folder)."""

    id = TextField(primary_key=True)
    conversation = ForeignKeyField(Conversation, column_name="conversation", on_delete="CASCADE")
    member = CleanText()
    model = CleanText(null=True)
    path = TextField()
    size = IntegerField()
    """Bytes."""
    input_tokens = IntegerField()
    output_tokens = IntegerField()

    class Meta:
        table_name = "sessions"


class QueuedMessage(Table):
    """A message of the user that waits for its turn."""

    id = TextField(primary_key=True)
    conversation = ForeignKeyField(Conversation, column_name="conversation", on_delete="CASCADE")
    client_id = CleanText()
    text = CleanText()
    kind = TextField()
    position = IntegerField()
    created = TextField()
    data = JsonText()

    class Meta:
        table_name = "queued_messages"


class Usage(Table):
    """One model call. It outlives its conversation: the sums of a month do not change by a delete."""

    id = TextField(primary_key=True)
    time = TextField()
    conversation = TextField(null=True)
    member = CleanText()
    turn = TextField(null=True)
    purpose = TextField()
    provider = CleanText()
    model = CleanText()
    input_tokens = IntegerField()
    output_tokens = IntegerField()
    cache_read_tokens = IntegerField()
    cache_write_tokens = IntegerField()
    cost = FloatField(null=True)
    """US dollars; None = unknown."""
    estimated = BooleanField()
    duration_ms = IntegerField()
    first_token_ms = IntegerField(null=True)
    outcome = TextField()

    class Meta:
        table_name = "usage"


class ModelSource(Table):
    """A source of models that the user added."""

    name = TextField(primary_key=True)
    kind = TextField()
    base_url = CleanText(null=True)
    models = JsonText()
    context = IntegerField(null=True)
    max_output = IntegerField(null=True)
    price_in = FloatField(null=True)
    price_out = FloatField(null=True)
    """US dollars per million tokens."""
    keys = JsonText()
    """Names of secrets and environment variables, never a key."""
    position = IntegerField()

    class Meta:
        table_name = "model_sources"


class OrderedModel(Table):
    """A place in the user's order of models: ``provider/model``, or a provider alone for the model it prefers."""

    label = TextField(primary_key=True)
    source = TextField()
    """One of the user, or one that the environment offers, or offered: its place waits for it."""
    position = IntegerField()

    class Meta:
        table_name = "model_order"


class ModelFacts(Table):
    """What the user says of one model; NULL is looked up."""

    source = TextField()
    model = CleanText()
    context = IntegerField(null=True)
    max_output = IntegerField(null=True)
    price_in = FloatField(null=True)
    price_out = FloatField(null=True)
    """US dollars per million tokens."""
    images = BooleanField(null=True)
    reasoning = BooleanField(null=True)
    tools = BooleanField(null=True)

    class Meta:
        table_name = "model_facts"
        primary_key = CompositeKey("source", "model")


class Setting(Table):
    key = TextField(primary_key=True)
    value = JsonText()

    class Meta:
        table_name = "settings"


TABLES: tuple[type[Table], ...] = (
    Conversation,
    Turn,
    Task,
    Plan,
    Message,
    Session,
    QueuedMessage,
    Usage,
    Rule,
    Step,
    ModelSource,
    OrderedModel,
    ModelFacts,
    Setting,
)
