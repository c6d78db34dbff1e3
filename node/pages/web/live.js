// Keeps a page up to date: fetches it again when the server reports a change of its study,
// or periodically, and replaces the parts that differ. Screen readers announce changes of
// the headline, but not the remaining time every minute.
"use strict";
(() => {
  const main = document.getElementById("main");
  const parts = ["headline", "live", "facts"];
  let asking = false, again = false;

  async function refresh() {
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected) { location.assign(answer.url); return; } // the token expired: sign in again
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const id of parts) {
        const now = document.getElementById(id), next = page.getElementById(id);
        if (now && next && now.innerHTML !== next.innerHTML) {
          const held = document.activeElement && now.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
          now.replaceChildren(...next.childNodes);
          if (held) now.querySelector(`[href="${CSS.escape(held)}"]`)?.focus();
        }
      }
      document.title = page.title;
      const said = document.getElementById("news"), news = page.getElementById("news")?.dataset.news;
      if (said && news && said.dataset.news !== news) said.textContent = said.dataset.news = news;
    } catch { /* the next event or poll tries again */ }
    finally {
      asking = false;
      if (again) { again = false; refresh(); }
    }
  }

  if (main.dataset.events) {
    const source = new EventSource(main.dataset.events);
    source.addEventListener("study", refresh);
    source.addEventListener("end", () => { source.close(); refresh(); });
    addEventListener("pagehide", () => source.close());
  }
  const every = Number(main.dataset.poll);
  if (every) setInterval(() => { if (!document.hidden) refresh(); }, every * 1000);
})();
