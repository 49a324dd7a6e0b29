/** What TypeScript is made of, as far as the page shows it; the first that fits counts. */
const PARTS =
  /(?<comment>\/\/.*)|(?<text>'[^'\n]*'|`[^`]*`)|(?<decorator>@\w+)|(?<word>\b(?:async|await|const|let|return|if|else|throw|new|this|readonly|private|class|export|import|from|of|for|void|null|undefined|true|false|number|string|boolean)\b)|(?<number>\b\d[\d_.]*\b)/g;

const COPIED = 2000;

/** Colors the code of the page, and lets people copy it. */
export function enableCode() {
  for (const figure of document.querySelectorAll('.code figure')) {
    const code = figure.querySelector('code');
    const source = code.textContent;
    code.replaceChildren(...colored(source));
    figure.querySelector('figcaption').append(copyButton(source, figure.querySelector('pre').dataset.source));
  }
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
