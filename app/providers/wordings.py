"""How providers say what went wrong: words and codes by kind, in the languages they answer in. Data only.

A wording counts only where ``classify`` asks for it; many of these words also occur in errors of other kinds.
``code`` patterns see the provider's error code in snake case, ``words`` patterns the message in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Wording(NamedTuple):
    code: re.Pattern[str]
    words: re.Pattern[str]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or r"(?!)", re.DOTALL)


WORDINGS: Mapping[str, Wording] = {
    "overflow": Wording(
        _any(r"context_(length|size|window)", r"request_too_large", r"prompt_too_long"),
        _any(
            r"context[ _](length|size|window)\b.{0,60}(exceed|reduce|not enough|too (small|short)|limit)",
            r"(maximum|exceeds?|available|overflows?)\b.{0,20}\bcontext\b",
            r"maximum (prompt|input) (length|size|tokens)",
            r"\bcontext\b.{0,20}overflow",
            r"\b(prompt|input|request|payload|messages?|conversation)\b(?![_.\[])[^:;,]{0,40}too (long|large|big)",
            r"(?=.*(token|context|payload|(prompt|input) length))"
            r"\b(prompt|input|request|payload|messages?|conversation)\b(?![_.\[]).{0,60}exceed",
            r"\b(prompt|inputs?)[_ ]tokens?.{0,60}(too (long|large)|exceed|must be (less|<)|>)",
            r"reduce the length of (the |your )?(messages|prompt|input)",
            r"exceeds?.{0,20}\bmax(imum)? (message|input|prompt|context) tokens",
            r"too many tokens",
            r"range of input length",
            r"(prompt|input|上下文|输入|提示|消息|内容).{0,10}(超长|过长|超出|超过)",
        ),
    ),
    "policy": Wording(
        _any(
            r"content_(filter|policy)",
            r"data_inspection",
            r"invalid_prompt",
            r"moderation",
            r"prohibited_content",
            r"recitation",
            r"(^|/)safety(/|$)",
            r"guardrail",
            r"responsible_ai",
        ),
        _any(
            r"content (filter|polic|management|moderation)",
            r"\b(usage|safety|acceptable use) polic",
            r"safety system",
            r"\b(input|prompt|content|messages?|request|output) (was|were|is|has been|have been) flagged",
            r"requires moderation",
            r"high risk",
            r"inappropriate content",
            r"new_sensitive",
            r"敏感|不安全|违规|违法",
        ),
    ),
    "subscription": Wording(
        _any(
            r"subscription_(inactive|expired|required|ended)",
            r"disabled_subscription",
            r"trial_(ended|expired)",
        ),
        _any(
            r"\bsubscription\b.{0,30}(expired|inactive|ended|lapsed|cancell?ed|is disabled)",
            r"no active subscription",
            r"\b(trial|membership|plan)\b.{0,15}(has|is) (ended|expired|over)",
            r"(订阅|套餐|会员).{0,6}(过期|到期|失效)",
            r"abbonamento.{0,20}(scadut|terminat)",
            r"abonnement.{0,20}(expiré|terminé|abgelaufen)",
            r"\babo\b.{0,20}abgelaufen",
            r"suscripción.{0,20}(caducad|vencid|expirad)",
            r"assinatura.{0,20}(expir|venc)",
            r"подписк.{0,20}(истек|закончил)",
        ),
    ),
    "balance": Wording(
        _any(
            r"insufficient_(quota|balance|credit|fund)",
            r"billing",
            r"arrearage",
            r"quota_exceeded",
            r"exceeded_current_quota",
            r"budget_exceeded",
            r"(pack|package|quota)_exhausted",
            r"free_tier_only",
            r"token_quota_failed",
            r"payment_required",
        ),
        _any(
            r"(credits?|balance|funds?|quota).{0,20}(too low|insufficient|not enough|exhausted|negative|used up)",
            r"insufficient (account )?(credits?|balance|funds?|quota)",
            r"(out of|no|not enough) (remaining |left )?(credits?|quota)\b",
            r"exceeded your (current quota|monthly included)",
            r"\bbilling (details|hard limit|account|settings|issue|problem|information)|plans? (and|&) billing",
            r"spend(ing)? limit",
            r"^key limit exceeded",
            r"(?<!thinking )budget (has been |was )?exceeded",
            r"free tier.{0,40}exhausted",
            r"good standing",
            r"past invoices?",
            r"valid payment|payment (required|failed|is due)",
            r"额度.{0,4}(不足|用尽|用完|耗尽)|已用尽|余额不足|欠费|充值",
            r"credito (insufficiente|esaurito)|saldo (insuf|agotado|esaurito)|créditos? insuficientes?",
            r"guthaben.{0,40}(nicht|aufgebraucht|erschöpft|zu niedrig)",
            r"(solde|crédits?) (insuffisants?|épuisés?)",
            r"недостаточно средств|баланс.{0,20}(исчерпан|недостаточ)",
            r"残高.{0,6}不足|クレジット.{0,6}不足|잔액.{0,6}부족",
        ),
    ),
    "period": Wording(
        _any(r"per_(day|week|month)"),
        _any(
            r"(\bper|\ba|\beach|/)[ -]?(day|week|month)\b",
            r"\b(daily|weekly|monthly)\b",
            r"per-(day|week|month)",
            r"\b[rt]pd\b",
            r"(小时|每[日天周月]).{0,6}(上限|限额)",
        ),
    ),
    "auth": Wording(
        _any(
            r"invalid_api_key",
            r"api_key_invalid",
            r"expired_key",
            r"authentication",
            r"auth_(failure|error)",
            r"unauthorized",
            r"unauthenticated",
            r"permission_(denied|error)",
            r"access_denied",
        ),
        _any(
            r"(invalid|incorrect|wrong|expired|missing|revoked) (x-)?(api|access|secret|auth)[ _-]?(key|token)\b",
            r"\b(api|access|secret|auth)[ _-]?(key|token)\b.{0,25}(not valid|invalid|incorrect|expired|revoked)",
            r"login fail",
            r"authentication (fail|error)",
            r"(令牌|密钥).{0,8}(无效|非法|错误|过期)|无效的令牌",
        ),
    ),
    "rate_limit": Wording(
        _any(r"rate_limit", r"throttl", r"too_many_requests", r"resource_exhausted", r"request_limit"),
        _any(
            r"rate[ -]limited",
            r"\b(rate|request|qps|rpm|tpm)[ -]limit (was |has been )?(exceeded|reached|hit)",
            r"exceed.{0,20}rate[ -]limit",
            r"too many requests",
            r"slow down",
            r"频率|troppe richieste",
        ),
    ),
    "overloaded": Wording(
        _any(r"overloaded", r"capacity", r"queue_exceeded", r"slow_down", r"unavailable"),
        _any(
            r"overload",
            r"\bcapacity\b",
            r"high (traffic|demand)",
            r"(server|model) is busy",
            r"no slot available",
        ),
    ),
    "timeout": Wording(_any(r"timeout"), _any(r"timed? ?out")),
    "dropped": Wording(
        _any(), _any(r"connection (was )?(lost|reset|closed|aborted)", r"broken pipe", r"econnreset")
    ),
    "unknown_model": Wording(
        _any(r"model_not_(found|exist)", r"unknown_model"),
        _any(
            r"\bmodels?\b.{0,60}(does not exist|not found|not exist|not available|no longer available)",
            r"(invalid|unknown|no such) model\b",
            r"no models? loaded",
            r"^model: \S+$",
            r"模型不存在",
        ),
    ),
    "invalid": Wording(
        _any(r"invalid_(request|param|arg)", r"bad_request", r"validation", r"not_supported"), _any()
    ),
    "local": Wording(
        _any(), _any(r"more system memory", r"out of memory", r"not enough memory", r"insufficient memory")
    ),
}

PER_MINUTE = re.compile(r"per[ _-]?(minute|second)|\b[rt]p[ms]\b")
"""A limit that passes by waiting."""

OUTPUT_CAP = re.compile(
    r"\b(max_tokens|max_completion_tokens|max_output_tokens|maxoutputtokens|budget_tokens)\b(?! exceed context).{0,60}"
    r"(too large|invalid|range|supports|must be|should be|value|below|above|>)|(range of|invalid) max_tokens"
)
"""Talk about how much may be written, which is no talk about how much was sent."""

ATTACHMENT = re.compile(r"\b(images?|audio|video|files?|documents?|pdf)\b")
