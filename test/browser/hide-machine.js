/* global document, NodeFilter, window */
// Runs in the page before a picture is taken: replaces the folder and the name of this machine in what it says.
window.hideMachine = (root, host) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const shown = text.nodeValue.replaceAll(root, '/app/');
    text.nodeValue = shown.trim() === host ? 'orders-1 ' : shown;
  }
};
