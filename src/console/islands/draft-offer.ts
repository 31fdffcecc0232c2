/** Returns a message about a draft that is kept in this browser, with a button to restore it and one to discard it. */
export function draftOffer(message: string, does: { restore: () => void; discard: () => void }): HTMLElement {
  const box = document.createElement('div')
  box.className = 'warning row'
  const text = document.createElement('span')
  text.textContent = message
  text.dir = 'auto'
  const button = (label: string, act: () => void) => {
    const made = document.createElement('button')
    made.type = 'button'
    made.className = 'second'
    made.textContent = label
    made.addEventListener('click', act)
    return made
  }
  box.append(text, button('Restore the draft', does.restore), button('Discard it', does.discard))
  return box
}
