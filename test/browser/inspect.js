/* global document, window */
// Runs in the page: what tests ask of it beyond what people see.
const controls = (selector) => [...document.querySelectorAll(selector)];
const show = ({ id, outerHTML }) => id || outerHTML;

window.inspect = {
  /** What has the focus: a control by its name, all else by its text; null: nothing that anybody chose. */
  focused() {
    const { activeElement: element, body } = document;
    return element === null || element === body ? null : (element.ariaLabel ?? element.textContent.trim());
  },

  /** The controls of forms that are not described by the error of their own form. */
  undescribed() {
    const isOwn = (control) => (id) => control.form.querySelector(`#${id}[role=alert]`) !== null;
    const ids = (control) => control.getAttribute('aria-describedby')?.split(' ') ?? [];
    return controls('form :is(input, select, textarea)')
      .filter((control) => !ids(control).some(isOwn(control)))
      .map(show);
  },

  /** Ids that are pointed at and do not exist, or exist twice. */
  brokenReferences() {
    const attributes = ['aria-describedby', 'aria-labelledby', 'aria-controls', 'for'];
    return attributes
      .flatMap((name) => controls(`[${name}]`).flatMap((element) => element.getAttribute(name).split(' ')))
      .filter((id) => controls(`[id="${id}"]`).length !== 1);
  },

  /** What makes the page wider than the window; what scrolls by itself does not. */
  tooWide() {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return controls('body *')
      .filter((element) => element.getBoundingClientRect().right > clientWidth)
      .map(({ outerHTML }) => outerHTML.slice(0, 200));
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
