/**
 * Asks the shop to do something.
 *
 * @returns the answer
 * @throws an Error that says in words why the shop did not
 */
export async function post(path, body) {
  const json = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, { method: 'POST', ...(body !== undefined && json) }).catch(() => null);
  if (response === null) throw new Error('The shop does not answer. Is it running?');
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(String(answer.message ?? `The shop answered with status ${response.status}`));
  return answer;
}
