// A session of the public TypeScript client over stdio. Arguments: the folder of the installed packages, the command, its arguments.
import path from 'node:path'
import assert from 'node:assert/strict'
import { pathToFileURL } from 'node:url'

const [, , packages, command, ...args] = process.argv
const load = (file) => import(pathToFileURL(path.join(packages, 'node_modules/@modelcontextprotocol/sdk/dist/esm', file)).href)
const { Client } = await load('client/index.js')
const { StdioClientTransport } = await load('client/stdio.js')

const client = new Client({ name: 'session', version: '1' })
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }))
const text = (result) => result.content.map((block) => block.text).join('')
const call = async (name, parameters, refused = false) => {
  const result = await client.callTool({ name, arguments: parameters })
  assert.equal(result.isError ?? false, refused, `${name}: ${text(result)}`)
  return result
}

assert.match(client.getInstructions(), /locate/)
const { tools } = await client.listTools()
for (const tool of tools) {
  assert.equal(typeof tool.annotations.readOnlyHint, 'boolean', tool.name)
  assert.equal(tool.annotations.openWorldHint, false, tool.name)
  assert.equal(tool.outputSchema.type, 'object', tool.name)
}
assert.match(text(await call('search', { query: 'Old words' })), /guides\/a/)
const edit = { $replaceText: { $text: 'Old words', from: 'Old words', to: 'New words' } }
const refusal = text(await call('update_blocks', { filter: { $key: { $in: ['guides/a', 'guides/b'] } }, update: edit }, true))
assert.equal(refusal.split('`expect`').length - 1 >= 2, true, refusal)
edit.$replaceText.expect = 1
const written = await call('update_blocks', { filter: { $key: 'guides/a' }, expect: 1, update: edit })
assert.equal(written.structuredContent.wrote, true)
const { contents } = await client.readResource({ uri: 'deckle://document/guides/a' })
assert.match(contents[0].text, /New words stand here\./)
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /there is no tool/)
console.log(`ok ${written.structuredContent.branch ?? 'main'}`)
await client.close()
