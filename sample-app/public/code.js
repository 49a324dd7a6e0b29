/** What TypeScript is made of, as far as the page shows it; the first that fits counts. */
const PARTS =
  /(?<comment>\/\/.*)|(?<text>'[^'\n]*'|`[^`]*`)|(?<decorator>@\w+)|(?<word>\b(?:async|await|const|let|return|if|else|throw|new|this|readonly|private|class|export|import|from|of|for|void|null|undefined|true|false|number|string|boolean)\b)|(?<number>\b\d[\d_.]*\b)/g;

const COPIED = 2000;

/** Shows the code of a card, in colors and with a button to copy it, once somebody opens it. */
export function showCode(details) {
  const open = async () => details.append(...(await Promise.all(details.dataset.excerpts.split(' ').map(read))));
  details.addEventListener('toggle', () => void open(), { once: true });
}

/** The first line of an excerpt names its file. */
async function read(name) {
  const response = await fetch(`excerpts/${name}.txt`).catch(() => null);
  if (!response?.ok) return 'The shop does not answer. Reload the page to see the code.';
  const [file, ...lines] = (await response.text()).trimEnd().split('\n');
  return figure(file, lines.join('\n'));
}

function figure(file, source) {
  const element = document.createElement('figure');
  element.innerHTML = '<figcaption></figcaption><pre tabindex="0" role="group"><code></code></pre>';
  element.querySelector('figcaption').append(file, copyButton(source, file));
  element.querySelector('pre').setAttribute('aria-label', `Code of ${file}`);
  element.querySelector('code').append(...colored(source));
  return element;
}

function colored(source) {
  const nodes = [];
  let at = 0;
  for (const match of source.matchAll(PARTS)) {
    const [kind] = Object.entries(match.groups).find(([, part]) => part !== undefined);
    const part = document.createElement('span');
    part.className = `is-${kind}`;
    part.textContent = match[0];
    nodes.push(source.slice(at, match.index), part);
    at = match.index + match[0].length;
  }
  return [...nodes, source.slice(at)];
}

function copyButton(source, file) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy the code of ${file}`);
  button.addEventListener('click', async () => {
    button.textContent = await navigator.clipboard.writeText(source).then(
      () => 'Copied',
      () => 'Not allowed',
    );
    setTimeout(() => (button.textContent = 'Copy'), COPIED);
  });
  return button;
}
