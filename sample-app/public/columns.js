/** From which widths on there is one more column. */
const WIDE = ['(min-width: 46rem)', '(min-width: 100rem)'].map((query) => matchMedia(query));

/**
 * Deals cards to columns of about the same height. They stay in theirs: a card that grows moves only those below it, where CSS
 * would balance the columns again and move a card away from whoever has just pressed its button.
 */
export function dealCards(cards) {
  const parent = cards[0].parentElement;
  const deal = () => {
    const columns = Array.from({ length: 1 + WIDE.filter(({ matches }) => matches).length }, addColumn);
    const focused = document.activeElement;
    parent.replaceChildren(...columns);
    for (const card of cards) shortest(columns).append(card);
    if (parent.contains(focused)) focused.focus({ preventScroll: true });
  };
  for (const query of WIDE) query.addEventListener('change', deal);
  deal();
}

function addColumn() {
  const column = document.createElement('div');
  column.className = 'column';
  return column;
}

/** The first one of the shortest. */
function shortest(columns) {
  const heights = columns.map(({ offsetHeight }) => offsetHeight);
  return columns[heights.indexOf(Math.min(...heights))];
}
