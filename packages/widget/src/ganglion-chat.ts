import { GanglionChat } from './chat-element.ts'

// The types of the package are this file alone.
declare global {
  interface HTMLElementTagNameMap {
    'ganglion-chat': HTMLElement & { texts: Partial<Record<string, string>> }
    'trail-chat': HTMLElement & { texts: Partial<Record<string, string>> }
  }
}

/** A constructor has one name only. */
class TrailChat extends GanglionChat {}

if (customElements.get('ganglion-chat') === undefined) customElements.define('ganglion-chat', GanglionChat)
if (customElements.get('trail-chat') === undefined) customElements.define('trail-chat', TrailChat)
