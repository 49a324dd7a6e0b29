import { showCode } from '../code.js';

const GUIDES = 'https://github.com/nestjs-delay-queue/nestjs-delay-queue/blob/main/docs/';

/** A number is not torn from its unit. */
const QUANTITY = /(\d) (s)\b/g;

/**
 * Adds a card to the page: its title, a hint, what it holds, and the code behind it.
 *
 * @param excerpts - which files of `excerpts` show its code
 * @param guides - titles by page of the documentation
 */
export function addCard({ id, title, hint, body, excerpts, guides }) {
  const card = document.createElement('section');
  card.className = 'card';
  card.id = id;
  card.setAttribute('aria-labelledby', `${id}-title`);
  const links = Object.entries(guides).map(([page, text]) => `<a href="${GUIDES}${page}">${text}</a>`);
  card.innerHTML = `
    <h2 id="${id}-title">${title}</h2>
    <p class="hint">${hint.replace(QUANTITY, '$1\u00a0$2')}</p>
    ${body}
    <p class="error" role="alert" hidden></p>
    <details class="code" data-excerpts="${excerpts}"><summary>The code behind it</summary></details>
    <p class="more">${links.join(' ')}</p>`;
  showCode(card.querySelector('.code'));
  document.querySelector('#tasks-card').before(card);
  return card;
}
