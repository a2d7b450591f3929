"""A session of the public Python client over streamable HTTP: locate, count, pin, mutate. Arguments: the server's address."""

import asyncio
import sys

from mcp.client import Client


def text(result):
    return "".join(block.text for block in result.content)


async def call(client, name, arguments, refused=False):
    result = await client.call_tool(name, arguments)
    assert bool(result.is_error) == refused, (name, text(result))
    if not refused:
        assert result.structured_content["text"] == text(result), name
    return result


async def main(address):
    async with Client(address) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"search", "read_document", "update_blocks", "create_document"} <= set(tools), tools.keys()
        for tool in tools.values():
            hints = tool.annotations
            assert None not in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint), tool.name
        assert tools["search"].annotations.read_only_hint and not tools["update_blocks"].annotations.read_only_hint

        # Locate.
        found = text(await call(client, "search", {"query": "Old words"}))
        assert "guides/a" in found, found
        # Count: a dry run shows what would change, and writes nothing.
        edit = {"$replaceText": {"$text": "Old words", "from": "Old words", "to": "New words"}}
        counted = text(await call(client, "update_blocks", {"key": "guides/a", "update": edit, "dry_run": True}))
        assert "1 block" in counted, counted
        # An unguarded edit of many documents is refused, naming the two guards that it lacks.
        refusal = text(await call(client, "update_blocks", {"filter": {}, "update": edit}, refused=True))
        assert "unguarded" in refusal and refusal.count("`expect`") >= 2 and "hint: " in refusal, refusal
        # Pin.
        lens = text(await call(client, "read_document", {"key": "guides/a"}))
        identifier = lens.split("Old words")[0].rsplit('id="', 1)[1].split('"')[0]
        # Mutate, as the hint says.
        edit["$replaceText"] = {"$id": identifier, "from": "Old words", "to": "New words", "expect": 1}
        written = await call(client, "update_blocks", {"filter": {"$key": "guides/a"}, "expect": 1, "update": edit})
        assert written.structured_content["wrote"] and written.structured_content["branch"], written.structured_content
        # What was read, written back, is no change: three times over.
        for _ in range(3):
            raw = text(await call(client, "read_document", {"key": "guides/a", "block": identifier, "raw": True}))
            block = raw.split("\n\n")[0].rstrip("\n")
            same = await call(client, "update_blocks", {"key": "guides/a", "update": {"$replace": {"$id": identifier, "content": block, "expect": 1}}})
            assert not same.structured_content["wrote"], text(same)
        # A refusal says what to do; a document that exists is never replaced.
        refusal = text(await call(client, "create_document", {"key": "guides/a", "content": "# A"}, refused=True))
        assert "hint: " in refusal, refusal

        resources = (await client.list_resources()).resources
        assert any(resource.uri == "deckle://document/guides/a" for resource in resources), resources
        contents = (await client.read_resource("deckle://document/guides/a")).contents
        assert "New words stand here." in contents[0].text, contents
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template.startswith("deckle://"), templates
        for missing in ("deckle://document/nothing", "deckle://document/../../etc/passwd", "file:///etc/passwd"):
            try:
                await client.read_resource(missing)
            except Exception as error:  # The client's own type of a protocol error differs between its versions.
                assert "no resource" in str(error), error
            else:
                raise AssertionError(missing)
        try:
            await client.call_tool("no_such_tool", {})
        except Exception as error:
            assert "there is no tool" in str(error), error
        else:
            raise AssertionError("an unknown tool was called")
    print("ok")


asyncio.run(main(sys.argv[1]))
