// Keys press the buttons that bear them; focus follows the item, so that it is read out and arrows scroll it; nothing
// is sent twice.
(() => {
  const trouble = document.getElementById("trouble");
  const stateOf = () => document.getElementById("desk").dataset.state;
  let sending = false;
  let shown = stateOf();

  const isPost = (event) => event.detail.ctx && event.detail.ctx.request && event.detail.ctx.request.method === "POST";
  const say = (text) => { trouble.textContent = text; };

  const focusItem = () => {
    const item = document.getElementById("item");
    if (item) (item.querySelector(".text, .scroll") || item).focus({ preventScroll: true });
  };

  document.addEventListener("htmx:before:request", (event) => {
    if (!isPost(event)) return;
    if (sending) event.preventDefault();
    else sending = true;
  });
  document.addEventListener("htmx:finally:request", (event) => { if (isPost(event)) sending = false; });
  document.addEventListener("htmx:response:error", (event) => {
    const status = event.detail.ctx.response.raw.status;
    if (status === 401) window.location.reload();
    else say(isPost(event) ? `Not saved (${status}). Load the page again and give this label once more.` : "");
  });
  document.addEventListener("htmx:error", (event) => {
    sending = false;
    if (!trouble.textContent) say("The server does not answer. Your last label may not be saved; it will be shown again if so.");
  });
  document.addEventListener("htmx:after:swap", () => {
    say("");
    const before = shown;
    shown = stateOf();
    if (shown === "preparing" && before === "preparing") return; // only how far it is has changed
    focusItem();
    window.scrollTo(0, 0);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || sending) return;
    if (event.target.matches("input, select, textarea")) return;
    const button = document.querySelector(`#desk [data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
  focusItem();
})();
