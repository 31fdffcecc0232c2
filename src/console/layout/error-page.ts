import { type Html, html } from './html.ts'
import { barePage, page } from './page.ts'
import type { Visit } from './visit.ts'

export type Problem = { status: number; message: string }

const titles: Readonly<Record<number, string>> = {
  403: 'You may not do that',
  404: 'There is nothing here',
  409: 'Somebody was faster',
  429: 'Too many requests',
  503: 'Not ready',
  507: 'The disk is nearly full',
}

/** What a person sees where a page cannot be shown. */
export function errorPage(visit: Visit | undefined, { status, message }: Problem): Html {
  const title = titles[status] ?? (status < 500 ? 'That did not work' : 'Something went wrong')
  const main = html`<h1>${title}</h1>
    <p>${message}</p>
    <p><a href="/">Go to the start page</a></p>`
  return visit === undefined ? barePage({ title, main }) : page(visit, { title, main })
}
