"""The hosts we know by name: their address, the variables that hold their keys, the names of their models.

Data only. Hosts that speak like OpenAI or Anthropic are spoken to directly, the others through litellm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Vendor:
    """One host of models."""

    name: str
    """As in ``provider/model``."""
    title: str
    wire: Literal["openai", "anthropic", "litellm"]
    keys: tuple[str, ...]
    """Environment variables that may hold a key, the usual one first."""
    base_url: str | None = None
    base_variables: tuple[str, ...] = ()
    """Environment variables that move the address."""
    prefixes: tuple[str, ...] = ()
    """How bare names of its models begin."""
    names: tuple[str, ...] = ()
    """Bare names that no prefix covers."""
    default_model: str | None = None
    litellm: str = ""
    """litellm's name of the host where it differs."""

    @property
    def litellm_name(self) -> str:
        return self.litellm or self.name


VENDORS: tuple[Vendor, ...] = (
    Vendor(
        "anthropic",
        "Anthropic",
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com",
        base_variables=("ANTHROPIC_BASE_URL",),
        prefixes=("claude-",),
        default_model="claude-sonnet-5-5",
    ),
    Vendor(
        "openai",
        "OpenAI",
        "openai",
        ("OPENAI_API_KEY",),
        "https://api.openai.com/v1",
        base_variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        prefixes=("gpt-", "chatgpt-", "o1-", "o3-", "o4-"),
        names=("o1", "o3", "o4"),
        default_model="gpt-6.1-sol",
    ),
    Vendor(
        "gemini",
        "Google Gemini",
        "litellm",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        prefixes=("gemini-",),
        default_model="gemini-flash-latest",
    ),
    Vendor(
        "mistral",
        "Mistral",
        "openai",
        ("MISTRAL_API_KEY",),
        "https://api.mistral.ai/v1",
        prefixes=("mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-"),
        default_model="mistral-medium-latest",
    ),
    Vendor(
        "deepseek",
        "DeepSeek",
        "openai",
        ("DEEPSEEK_API_KEY",),
        "https://api.deepseek.com/v1",
        prefixes=("deepseek-",),
        default_model="deepseek-flash",
    ),
    Vendor(
        "xai",
        "xAI",
        "openai",
        ("XAI_API_KEY",),
        "https://api.x.ai/v1",
        prefixes=("grok-",),
        default_model="grok-4.7",
    ),
    Vendor(
        "groq",
        "Groq",
        "openai",
        ("GROQ_API_KEY",),
        "https://api.groq.com/openai/v1",
        default_model="openai/gpt-oss-120b",
    ),
    Vendor(
        "openrouter",
        "OpenRouter",
        "openai",
        ("OPENROUTER_API_KEY",),
        "https://openrouter.ai/api/v1",
        default_model="openrouter/auto",
    ),
    Vendor(
        "together",
        "Together",
        "openai",
        ("TOGETHER_API_KEY", "TOGETHERAI_API_KEY"),
        "https://api.together.xyz/v1",
        default_model="zai-org/GLM-5.3",
        litellm="together_ai",
    ),
    Vendor(
        "fireworks",
        "Fireworks",
        "openai",
        ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
        "https://api.fireworks.ai/inference/v1",
        default_model="accounts/fireworks/models/glm-5p3",
        litellm="fireworks_ai",
    ),
    Vendor(
        "dashscope",
        "Alibaba Qwen",
        "openai",
        ("DASHSCOPE_API_KEY",),
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        prefixes=("qwen-", "qwen2", "qwen3", "qwen4", "qwq-"),
        default_model="qwen3.7-plus",
    ),
    Vendor(
        "moonshot",
        "Moonshot",
        "openai",
        ("MOONSHOT_API_KEY",),
        "https://api.moonshot.ai/v1",
        prefixes=("kimi-", "moonshot-"),
        default_model="kimi-k3",
    ),
    Vendor(
        "cerebras",
        "Cerebras",
        "openai",
        ("CEREBRAS_API_KEY",),
        "https://api.cerebras.ai/v1",
        default_model="gpt-oss-120b",
    ),
    Vendor(
        "cohere",
        "Cohere",
        "litellm",
        ("COHERE_API_KEY", "CO_API_KEY"),
        prefixes=("command-", "c4ai-"),
        default_model="command-a-03-2025",
    ),
    Vendor(
        "azure",
        "Azure OpenAI",
        "litellm",
        ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"),
        base_variables=("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"),
    ),
    Vendor(
        "huggingface",
        "Hugging Face",
        "openai",
        ("HF_TOKEN",),
        "https://router.huggingface.co/v1",
        default_model="openai/gpt-oss-120b",
    ),
)
"""In the order in which a key of the environment becomes the default."""

KEYLESS = (
    "agentcore",
    "bedrock",
    "chatgpt",
    "gigachat",
    "github_copilot",
    "lemonade",
    "microsoft_365_copilot",
    "oci",
    "ollama",
    "sagemaker",
    "vertex_ai",
)
"""How litellm's names of hosts begin that know their user otherwise: by a profile, a sign-in, or not at all."""

_BY_NAME = {vendor.name: vendor for vendor in VENDORS} | {
    vendor.litellm: vendor for vendor in VENDORS if vendor.litellm
}
_ALIASES = {"google": "gemini", "claude": "anthropic", "grok": "xai", "qwen": "dashscope"}


def find_vendor(name: str) -> Vendor | None:
    """By the provider's part of a model string; a few everyday names too."""
    lowered = name.lower()
    return _BY_NAME.get(_ALIASES.get(lowered, lowered))


def vendor_of(bare: str) -> Vendor | None:
    """Whose model a bare name is, by how it begins: ``gpt-…``, ``claude-…``."""
    lowered = bare.lower()
    return next((v for v in VENDORS if lowered.startswith(v.prefixes) or lowered in v.names), None)
