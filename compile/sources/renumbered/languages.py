"""The codes of languages in classes of `transformers`, in the order of their ids."""

from __future__ import annotations

M2M100 = "m2m100"  # the default list of M2M-100
M2M100_CODES = {
    M2M100: (
        "af", "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br", "bs", "ca", "ceb", "cs", "cy", "da", "de", "el", "en", "es", "et",
        "fa", "ff", "fi", "fr", "fy", "ga", "gd", "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu", "hy", "id", "ig", "ilo", "is", "it",
        "ja", "jv", "ka", "kk", "km", "kn", "ko", "lb", "lg", "ln", "lo", "lt", "lv", "mg", "mk", "ml", "mn", "mr", "ms", "my", "ne",
        "nl", "no", "ns", "oc", "or", "pa", "pl", "ps", "pt", "ro", "ru", "sd", "si", "sk", "sl", "so", "sq", "sr", "ss", "su", "sv",
        "sw", "ta", "th", "tl", "tn", "tr", "uk", "ur", "uz", "vi", "wo", "xh", "yi", "yo", "zh", "zu",
    ),
    "wmt21": ("en", "ha", "is", "ja", "cs", "ru", "zh", "de"),
}  # fmt: skip
MUSTC = ("pt", "fr", "ru", "nl", "ro", "it", "es", "de")
