// Shows who acts in the pages of `npm run dev`, and switches to another person.
const HOME = "/__development";

const { people, acting } = await (await fetch(`${HOME}/people`)).json();

const style = new CSSStyleSheet();
style.replaceSync(`
  label { position: fixed; left: 8px; bottom: 8px; z-index: 9; display: flex; gap: 6px;
    align-items: center; padding: 4px 8px; border: 1px solid; border-radius: 8px;
    background: Canvas; color: CanvasText; font: 13px system-ui, sans-serif; }
  select { font: inherit; }
  /* The composer takes the whole width of a narrow page. */
  @media (max-width: 1099px) { label { left: auto; bottom: auto; right: 8px; top: 64px; } }
  /* The head of GamePlan has room for it, and its other edges have none on a phone. */
  .head { left: 112px; right: auto; top: 14px; bottom: auto; }
  @media (max-width: 599px) { .head { padding: 4px; } .head span { display: none; } .head select { width: 68px; } }
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
const words = document.createElement("span");
words.append("Acting as");
label.append(words, select);
select.setAttribute("aria-label", "Acting as");
if (document.querySelector("interlock-gameplan")) label.className = "head";
const host = document.createElement("div");
const root = host.attachShadow({ mode: "open" });
root.adoptedStyleSheets = [style];
root.append(label);
document.body.append(host);
