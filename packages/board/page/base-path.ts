/** The path below which the page and its API are served, without a trailing slash; empty at the root. */
export const BASE = readBase();

function readBase(): string {
  const content = document.querySelector('meta[name="board-base"]')?.getAttribute('content') ?? '';
  return new URL(content || '/', location.href).pathname.replace(/(?<!\/)\/+$/, '');
}
