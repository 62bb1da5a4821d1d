"""A Qwen3-VL with random weights that says yes or no, made without any download."""

import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    GenerationConfig,
    Qwen2Tokenizer,
    Qwen2VLImageProcessor,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def save_tiny_qwen(folder):
    """Write model and processor as a checkpoint that ``Auto`` classes load."""
    tokenizer = tiny_tokenizer()
    processor = Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(
            patch_size=16, size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64}
        ),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(patch_size=16),
        chat_template=TEMPLATE,
    )
    processor.save_pretrained(folder)
    tiny_model(tokenizer).save_pretrained(folder)


def tiny_tokenizer():
    """Bytes, the special tokens, and the words yes and no."""
    vocabulary = {letter: i for i, letter in enumerate(sorted(ByteLevel.alphabet()))}
    vocabulary |= {token: len(vocabulary) + i for i, token in enumerate(SPECIAL)}
    tokenizer = Qwen2Tokenizer(vocab=vocabulary, merges=[], eos_token="<|im_end|>")
    tokenizer.add_special_tokens({"additional_special_tokens": list(SPECIAL[1:])})
    tokenizer.add_tokens(["yes", "no"])
    return tokenizer


def tiny_model(tokenizer):
    token = tokenizer.convert_tokens_to_ids
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "initializer_range": 0.5,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": 1,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "out_hidden_size": 32,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
            "initializer_range": 0.5,
        },
        image_token_id=token("<|image_pad|>"),
        video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"),
        vision_end_token_id=token("<|vision_end|>"),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Qwen3VLForConditionalGeneration(config)
        # Of two opposite rows one always wins, and all other words are ruled out.
        head = torch.randn(32)
        model.lm_head.weight.data.zero_()
        model.lm_head.weight.data[token("yes")] = head
        model.lm_head.weight.data[token("no")] = -head
    # Published settings of the family, which a judge has to overrule.
    model.generation_config = GenerationConfig(
        do_sample=True,
        temperature=0.7,
        top_p=0.8,
        top_k=20,
        eos_token_id=token("<|im_end|>"),
        pad_token_id=token("<|endoftext|>"),
    )
    return model
