"""Text-to-image pipelines of a few thousand random weights, saved as real ones are."""

import string
from pathlib import Path

import torch
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    EulerAncestralDiscreteScheduler,
    StableDiffusionPipeline,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
from transformers import (
    CLIPConfig,
    CLIPImageProcessor,
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTextModelWithProjection,
    CLIPTokenizer,
)

WIDTH = 16
_TRANSFORMER = {
    "hidden_size": WIDTH,
    "intermediate_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}


def save_tiny_sdxl(folder: Path, seed: int = 0) -> Path:
    """As SDXL-Turbo: two text encoders, ancestral sampling, no safety checker."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokenizer = _tokenizer()
        text = CLIPTextConfig(**_text(tokenizer))
        pipeline = StableDiffusionXLPipeline(
            vae=_vae(),
            text_encoder=CLIPTextModel(text),
            text_encoder_2=CLIPTextModelWithProjection(text),
            tokenizer=tokenizer,
            tokenizer_2=tokenizer,
            unet=_unet(
                cross_attention_dim=2 * WIDTH,
                addition_embed_type="text_time",
                addition_time_embed_dim=8,
                projection_class_embeddings_input_dim=6 * 8 + WIDTH,
            ),
            scheduler=EulerAncestralDiscreteScheduler(timestep_spacing="trailing"),
        )
    pipeline.save_pretrained(folder)
    return folder


def save_tiny_sd(folder: Path, checker: StableDiffusionSafetyChecker, seed: int = 0) -> Path:
    """As Stable Diffusion 1, with its safety checker."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokenizer = _tokenizer()
        pipeline = StableDiffusionPipeline(
            vae=_vae(),
            text_encoder=CLIPTextModel(CLIPTextConfig(**_text(tokenizer))),
            tokenizer=tokenizer,
            unet=_unet(cross_attention_dim=WIDTH),
            scheduler=DDIMScheduler(steps_offset=1, clip_sample=False),
            safety_checker=checker,
            feature_extractor=_processor(),
        )
    pipeline.save_pretrained(folder)
    return folder


def tiny_checker(threshold: float = 2.0, seed: int = 0) -> StableDiffusionSafetyChecker:
    """Flags pictures whose cosine with its one concept is above a threshold."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vision = {**_TRANSFORMER, "image_size": 32, "patch_size": 8}
        checker = StableDiffusionSafetyChecker(
            CLIPConfig(vision_config=vision, projection_dim=WIDTH)
        )
        checker.concept_embeds.data.normal_()
    checker.concept_embeds_weights.data.fill_(2.0)[0] = threshold
    checker.special_care_embeds_weights.data.fill_(2.0)
    return checker.eval()


def save_tiny_checker(folder: Path, threshold: float) -> Path:
    """As the checker's own repository."""
    tiny_checker(threshold).save_pretrained(folder)
    _processor().save_pretrained(folder)
    return folder


def _tokenizer() -> CLIPTokenizer:
    letters = string.ascii_lowercase + string.punctuation + string.digits
    words = [*letters, *(f"{letter}</w>" for letter in letters)]
    words += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: i for i, word in enumerate(words)}
    return CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77)


def _text(tokenizer: CLIPTokenizer) -> dict[str, object]:
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    return {
        **_TRANSFORMER,
        **ends,
        "vocab_size": len(tokenizer),
        "projection_dim": WIDTH,
        "pad_token_id": tokenizer.pad_token_id,
    }


def _vae() -> AutoencoderKL:
    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(8,) * 4,
        layers_per_block=1,
        norm_num_groups=4,
        sample_size=64,
    )


def _unet(**options: object) -> UNet2DConditionModel:
    return UNet2DConditionModel(
        sample_size=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        block_out_channels=(8, WIDTH),
        layers_per_block=1,
        norm_num_groups=4,
        attention_head_dim=4,
        **options,
    )


def _processor() -> CLIPImageProcessor:
    sizes = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    return CLIPImageProcessor(**sizes)
