// Nothing can be accepted before something is ticked; what is shown whole has nothing to open.
(() => {
  const button = document.getElementById("accept-ticked");
  const ticks = [...document.querySelectorAll(".reviews input[type=checkbox]")];
  const texts = [...document.querySelectorAll(".excerpt:has(+ .whole)")];

  const count = () => { if (button) button.disabled = !ticks.some((tick) => tick.checked); };
  const measure = () => {
    for (const text of texts) {
      const whole = text.nextElementSibling;
      if (!whole.open) whole.hidden = text.scrollHeight <= text.clientHeight;
    }
  };

  document.addEventListener("change", count);
  window.addEventListener("pageshow", count); // a browser that goes back ticks again what was ticked
  window.addEventListener("resize", measure);
  count();
  measure();
})();
