const SILENCE = 25_000;

/** Listens to the server's events for ever: reopens a connection that ends or goes silent. */
export function connect(handlers) {
  const state = document.querySelector('#connection');
  let source;
  let silence;

  function open() {
    source?.close();
    source = new EventSource('/events');
    source.onerror = () => {
      tell('connecting', 'Reconnecting…');
      // The browser retries by itself, unless it was refused.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000);
    };
    source.addEventListener('heartbeat', heard);
    for (const [type, handle] of Object.entries(handlers)) {
      source.addEventListener(type, (event) => {
        heard();
        if (type === 'away') tell('away', 'Redis is down');
        if (type === 'snapshot') tell('live', 'Live');
        handle(JSON.parse(event.data));
      });
    }
  }

  function heard() {
    clearTimeout(silence);
    silence = setTimeout(open, SILENCE);
  }

  function tell(value, text) {
    if (state.dataset.state === value && state.textContent === text) return;
    state.dataset.state = value;
    state.textContent = text;
  }

  open();
}
