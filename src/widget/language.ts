/**
 * The script of a page that speaks English and German, before its elements begin: a person whose
 * browser prefers German to English reads German. The title of the page has its German in data-de.
 */
const preferred = navigator.languages.find((language) => /^(?:de|en)(?:-|$)/i.test(language));
if (preferred && /^de/i.test(preferred)) {
  document.documentElement.lang = preferred;
  const { de } = document.querySelector("title")?.dataset ?? {};
  if (de) document.title = de;
}
