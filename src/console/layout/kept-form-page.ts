import type { FastifyRequest } from 'fastify'
import { type Html, html } from './html-template.ts'
import { barePage } from './page.ts'

const maxFields = 100
/** The token of the session that has ended, and which button was pressed: nothing is written without another press. */
const dropped: ReadonlySet<string> = new Set(['_csrf', 'do'])

/**
 * Shows what was typed into a form whose session has ended, so that it can be taken on after signing in elsewhere. The form's own
 * preview, at `<path>/preview`, then shows it again and writes nothing.
 */
export function keptFormPage({ body, url }: Pick<FastifyRequest, 'body' | 'url'>): Html {
  const [path = url] = url.split('?')
  const action = path.endsWith('/preview') ? path : `${path}/preview`
  const fields = fieldsIn(body)
  const text = fields.find(([name]) => name === 'content')?.[1]
  return barePage({
    title: 'You were signed out',
    main: html`<h1>You were signed out</h1>
      <p>Nothing was saved, and nothing is lost: what you typed is on this page.</p>
      <ol>
        <li><a href="/sign-in" target="_blank" rel="noopener">Sign in (in a new tab)</a>.</li>
        <li>Come back to this tab, and go on. You can check your text before you send it again.</li>
      </ol>
      <form method="post" action="${action}">
        ${fields
          .filter(([name]) => name !== 'content')
          .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
        ${
          text !== undefined &&
          html`<div class="field"><label for="kept">Your text</label>
          <textarea id="kept" name="content" rows="12" dir="auto">\n${text}</textarea></div>`
        }
        <button type="submit">Go on</button>
      </form>`,
  })
}

function fieldsIn(body: unknown): [name: string, value: string][] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body)
    .filter(([name]) => !dropped.has(name))
    .flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, String(value)]))
    .slice(0, maxFields)
}
