import { GanglionChat } from './chat-element.ts'

// Declared here, because the package publishes the types of this file only.
declare global {
  interface HTMLElementTagNameMap {
    'ganglion-chat': HTMLElement & { texts: Partial<Record<string, string>> }
    'trail-chat': HTMLElement & { texts: Partial<Record<string, string>> }
  }
}

/** Class of `<trail-chat>`: a constructor can be registered under one name only. */
class TrailChat extends GanglionChat {}

if (customElements.get('ganglion-chat') === undefined) customElements.define('ganglion-chat', GanglionChat)
if (customElements.get('trail-chat') === undefined) customElements.define('trail-chat', TrailChat)
