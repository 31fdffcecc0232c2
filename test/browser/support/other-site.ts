import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { bundleWidget } from '../../../packages/widget/bundle-widget.ts'
import { listening } from '../../support/listening.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** A policy that lets in only what the widget needs: no styles, no images, and no strings as markup. */
const policy = "default-src 'none'; script-src 'self'; connect-src 'self' http:; require-trusted-types-for 'script'"

export type SitePage = {
  /** HTML of the body. */
  html: string
  css?: string
  /** Runs in the page. */
  script?: string
  policy?: string
}

/** A web site of somebody else, on an origin of its own until the test ends. @param routes by path @returns the origin */
export async function otherSite(page: SitePage, routes: Record<string, Handler> = {}): Promise<string> {
  const { html, css = '', script = '' } = page
  const files: Record<string, [type: string, content: () => string | Promise<string>]> = {
    '/': [
      'text/html; charset=utf-8',
      () =>
        `<!doctype html><html lang="en"><head><title>A site</title><meta name="viewport" content="width=device-width">` +
        `${css && '<link rel="stylesheet" href="/page.css">'}<script src="/page.js"></script></head><body><main><h1>A site</h1>${html}</main></body></html>`,
    ],
    '/page.css': ['text/css', () => css],
    '/page.js': ['text/javascript', () => script],
    '/v1/trail-chat.js': ['text/javascript', bundleWidget],
  }
  const allowed = page.policy ?? (css === '' ? policy : `${policy}; style-src 'self'`)
  return listening(
    createServer(async (request, response) => {
      const [path = ''] = (request.url ?? '').split('?')
      const file = files[path]
      if (file === undefined) {
        const route = routes[path]
        if (route === undefined) return void response.writeHead(404).end()
        return route(request, response)
      }
      response.writeHead(200, { 'content-type': file[0], 'content-security-policy': allowed })
      response.end(await file[1]())
    }),
  )
}

/** A route that answers each post with the next of some answers, and the last one for ever. Notes what was sent. */
export function scripted(answers: readonly ((response: ServerResponse) => void)[], sent: unknown[] = []): Handler {
  let at = 0
  return async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    sent.push(JSON.parse(body))
    answers[Math.min(at++, answers.length - 1)]?.(response)
  }
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
