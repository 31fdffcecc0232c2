import { expect, test } from 'vitest'
import { prefersToJson } from '../../../src/http/request/accept.ts'

test.each([
  'text/event-stream',
  'TEXT/Event-Stream',
  ' text/event-stream ; q=0.5 ',
  'text/event-stream;charset=utf-8',
  'text/event-stream, */*',
  'text/event-stream;q=0.9, application/json;q=0.8',
  'application/json;q=0, */*',
  'text/*',
  'text/event-stream;x="a, b; q=0"',
  'application/json;x="\\",text/html";q=0.2, text/event-stream;q=0.3',
])('a stream for %s', (accept) => expect(prefersToJson('text/event-stream', accept)).toBe(true))

test.each([
  undefined,
  '',
  '*/*',
  'application/json',
  'text/html, application/xhtml+xml, */*;q=0.8',
  'text/event-stream;q=0',
  'text/event-stream;q=0.4, application/json;q=0.5',
  'text/event-stream;q=0.4, */*',
  'application/json, text/event-stream',
  'text/event-stream, application/json, */*',
  'text/event-stream;q=0.5, application/json;q=0.500',
  'text/*, */*',
  'text/event-stream;q=high',
  'text/event-stream;q=2',
  'text/event-streams',
  'text/html',
  'application/json;x=", text/event-stream"',
  ',,;;,',
  '"',
])('JSON for %s', (accept) => expect(prefersToJson('text/event-stream', accept)).toBe(false))

test.each([
  // Firefox and Safari, Chrome, a text browser, and Internet Explorer.
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  'text/html, text/plain, text/sgml, text/css, */*;q=0.01',
  'text/html, application/xhtml+xml, */*',
  'text/html',
])('a page for %s', (accept) => expect(prefersToJson('text/html', accept)).toBe(true))

test.each([
  undefined,
  '*/*',
  'application/json, text/html',
  'text/html, application/json',
  'text/html;q=0.9, application/json;q=0.9, */*',
  'text/html;q=0',
  'x-text/html',
  'application/json;x="text/html"',
  `${'"'.repeat(5000)}text/html`,
  `${'text/html;q=0,'.repeat(500)}application/json`,
])('no page for %s', (accept) => expect(prefersToJson('text/html', accept)).toBe(false))
