const copied = [
  'box-sizing',
  'width',
  'padding',
  'border',
  'font',
  'line-height',
  'letter-spacing',
  'tab-size',
  'direction',
  'text-align',
  'overflow-wrap',
  'word-break',
] as const

/** Where an offset of a text area's value is shown, in pixels from the corner of its content. `bottom`: below the line. */
export function placeInText(area: HTMLTextAreaElement, offset: number): { left: number; top: number; bottom: number } {
  const style = getComputedStyle(area)
  const mirror = document.createElement('div')
  for (const name of copied) mirror.style.setProperty(name, style.getPropertyValue(name))
  mirror.style.setProperty('position', 'absolute')
  mirror.style.setProperty('visibility', 'hidden')
  mirror.style.setProperty('white-space', 'pre-wrap')
  const mark = document.createElement('span')
  mark.textContent = '\u200b'
  mirror.append(area.value.slice(0, offset), mark, area.value.slice(offset, offset + 200))
  document.body.append(mirror)
  const place = { left: mark.offsetLeft, top: mark.offsetTop, bottom: mark.offsetTop + mark.offsetHeight }
  mirror.remove()
  return place
}
