/**
 * The script of a page that speaks English and German, before its elements begin: a person whose
 * browser prefers German to English reads German.
 */
const preferred = navigator.languages.find((language) => /^(?:de|en)(?:-|$)/i.test(language));
if (preferred && /^de/i.test(preferred)) document.documentElement.lang = preferred;
