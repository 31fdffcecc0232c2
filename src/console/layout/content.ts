import { type Html, html, trusted } from './html-template.ts'

export function content({ blocks }: { blocks: readonly string[] }): Html {
  return html`<div class="content">${trusted(blocks.join('\n'))}</div>`
}
