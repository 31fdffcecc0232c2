import { GanglionChat } from './chat-element.ts'

declare global {
  interface HTMLElementTagNameMap {
    'ganglion-chat': GanglionChat
    'trail-chat': GanglionChat
  }
}

/** A constructor has one name only. */
class TrailChat extends GanglionChat {}

if (customElements.get('ganglion-chat') === undefined) customElements.define('ganglion-chat', GanglionChat)
if (customElements.get('trail-chat') === undefined) customElements.define('trail-chat', TrailChat)
