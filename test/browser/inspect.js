/* global document, window */
// Runs in the page and answers questions of tests about more than people see.
const controls = (selector) => [...document.querySelectorAll(selector)];
const show = ({ id, outerHTML }) => id || outerHTML;

window.inspect = {
  /** The name or text of the focused element, or null if nothing has the focus. */
  focused() {
    const { activeElement: element, body } = document;
    return element === null || element === body ? null : (element.ariaLabel ?? element.textContent.trim());
  },

  /** Form controls that are not described by their own form's error. */
  undescribed() {
    const isOwn = (control) => (id) => control.form.querySelector(`#${id}[role=alert]`) !== null;
    const ids = (control) => control.getAttribute('aria-describedby')?.split(' ') ?? [];
    return controls('form :is(input, select, textarea)')
      .filter((control) => !ids(control).some(isOwn(control)))
      .map(show);
  },

  /** Ids that are referred to but do not exist exactly once. */
  brokenReferences() {
    const attributes = ['aria-describedby', 'aria-labelledby', 'aria-controls', 'for'];
    return attributes
      .flatMap((name) => controls(`[${name}]`).flatMap((element) => element.getAttribute(name).split(' ')))
      .filter((id) => controls(`[id="${id}"]`).length !== 1);
  },

  /** Elements that make the page wider than the window. */
  tooWide() {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return controls('body *')
      .filter((element) => element.getBoundingClientRect().right > clientWidth)
      .map(({ outerHTML }) => outerHTML.slice(0, 200));
  },

  /** Buttons that are too narrow for what they say. */
  clipped() {
    return controls('button')
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ outerHTML, ariaLabel }) => ariaLabel ?? outerHTML);
  },

  /** In which column of the page each card is, by its id: where its left edge is. */
  columns() {
    return Object.fromEntries(controls('.cards .card').map((card) => [card.id, card.getBoundingClientRect().left]));
  },

  moving() {
    return document.getAnimations().map(({ animationName, transitionProperty }) => animationName ?? transitionProperty);
  },

  nameless() {
    const isNamed = ({ labels, ariaLabel, textContent }) => labels?.length > 0 || ariaLabel || textContent.trim();
    return controls('input, textarea, button')
      .filter((control) => !isNamed(control))
      .map(show);
  },
};
