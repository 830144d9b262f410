// Shows who acts in the pages of `npm run dev`, and switches to another person.
const HOME = "/__development";

const { people, acting } = await (await fetch(`${HOME}/people`)).json();

const style = new CSSStyleSheet();
style.replaceSync(`
  :host { display: block; height: 36px; }
  label { display: inline-flex; gap: 6px; align-items: center; margin: 3px 8px; padding: 3px 8px;
    border: 1px solid; border-radius: 8px; background: Canvas; color: CanvasText;
    font: 13px system-ui, sans-serif; }
  select { font: inherit; }
  /* A wide chat has room in its corner, and a wide GamePlan in its head. */
  @media (min-width: 1100px) {
    :host(.chat) { position: fixed; left: 0; bottom: 4px; z-index: 9; }
  }
  @media (min-width: 900px) {
    :host(.gameplan) { position: fixed; left: 104px; top: 12px; z-index: 9; }
  }
`);
// Everywhere else it stands above the page, so that it covers nothing.
const room = new CSSStyleSheet();
room.replaceSync(`
  [data-below] { height: calc(100dvh - 36px); }
  @media (min-width: 1100px) { interlock-chat[data-below] { height: 100dvh; } }
  @media (min-width: 900px) { interlock-gameplan[data-below] { height: 100dvh; } }
`);

const select = document.createElement("select");
for (const name of people) select.append(new Option(name, name, false, name === acting));
select.addEventListener("change", () => void act(select.value));

async function act(name) {
  const answer = await fetch(`${HOME}/acting`, { method: "POST", body: name });
  if (!answer.ok) return;
  // What the page remembers belongs to the person who acted before.
  sessionStorage.clear();
  location.reload();
}

const label = document.createElement("label");
label.append("Acting as", select);
select.setAttribute("aria-label", "Acting as");
const host = document.createElement("div");
const root = host.attachShadow({ mode: "open" });
root.adoptedStyleSheets = [style];
root.append(label);
document.body.prepend(host);
for (const name of ["chat", "gameplan", "approvals", "runs"]) {
  const page = document.querySelector(`interlock-${name}`);
  if (!page) continue;
  host.className = name;
  page.dataset.below = "";
}
document.adoptedStyleSheets = [...document.adoptedStyleSheets, room];
